// The picture as a file: SVG with the page's colours written into it, or PNG.

const KEPT = ["fill", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "opacity", "fill-opacity", "font-family", "font-size",
  "font-weight", "text-anchor", "paint-order", "dominant-baseline", "visibility"];

function finished(picture) {
  const twin = picture.cloneNode(true);
  const sources = [picture, ...picture.querySelectorAll("*")], targets = [twin, ...twin.querySelectorAll("*")];
  sources.forEach((source, i) => {
    const style = getComputedStyle(source);
    for (const name of KEPT) targets[i].setAttribute(name, style.getPropertyValue(name));
    targets[i].removeAttribute("class");
    targets[i].removeAttribute("tabindex");
  });
  const box = picture.viewBox.baseVal;
  twin.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  twin.setAttribute("width", box.width);
  twin.setAttribute("height", box.height);
  const paper = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  for (const [k, v] of Object.entries({ x: box.x, y: box.y, width: box.width, height: box.height })) paper.setAttribute(k, v);
  paper.setAttribute("fill", getComputedStyle(document.body).backgroundColor);
  twin.prepend(paper);
  return { text: new XMLSerializer().serializeToString(twin), box };
}

function offer(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 5000);
}

export function saveSvg(picture, name) {
  offer(new Blob([finished(picture).text], { type: "image/svg+xml" }), name + ".svg");
}

export async function savePng(picture, name) {
  const { text, box } = finished(picture);
  const image = new Image();
  image.src = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = 2 * box.width;
  canvas.height = 2 * box.height;
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(image.src);
  canvas.toBlob((blob) => offer(blob, name + ".png"));
}
