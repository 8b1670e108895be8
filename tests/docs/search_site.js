// Searches a built site as its page does: node search_site.js FOLDER QUERY...; writes, as JSON, the
// pages that are found for each query, best first.
const fs = require("fs"), vm = require("vm");
const [folder, ...queries] = process.argv.slice(2);
const nothing = () => null;
const page = {
  _: (text) => text, _ready: nothing, SPHINX_HIGHLIGHT_ENABLED: false, DOCUMENTATION_OPTIONS: {},
  document: { getElementById: nothing, addEventListener: nothing },
};
page.window = page;
vm.createContext(page);
for (const file of ["_static/language_data.js", "_static/searchtools.js", "searchindex.js"])
  vm.runInContext(fs.readFileSync(`${folder}/${file}`, "utf8"), page);
const found = queries.map((query) => {
  page.query = query;
  const results = vm.runInContext("Search._performSearch(...Search._parseQuery(query))", page);
  return results.reverse().map(([name]) => name);
});
console.log(JSON.stringify(found));
