// Questions to the server; an answer that is an error is thrown.

const token = new URLSearchParams(location.search).get("token") || "";
export const tab = crypto.randomUUID();

export async function ask(name, values = {}) {
  let response;
  try {
    response = await fetch(`/api/${name}`, {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-Structlearn-Token": token },
      body: JSON.stringify({ tab, ...values }),
    });
  } catch {
    throw new Error("the server does not answer: is structlearn label still running? What you see here is not saved");
  }
  const found = await response.json();
  if (found.error) throw new Error(found.error);
  return found;
}
