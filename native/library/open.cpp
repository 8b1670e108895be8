// Which kind of model a file is.
#include <string_view>

#include "library/opened_model.hpp"
#include "models/container.hpp"
#include "models/crfsuite_file.hpp"
#include "text/json.hpp"

namespace structlearn::library {

std::unique_ptr<OpenedModel> open_model(std::vector<char> content) {
  const std::string_view whole(content.data(), content.size());
  if (whole.substr(0, 4) == "lCRF") {
    check_crfsuite_header(whole.substr(0, kCrfsuiteHeader), whole.size());
    return open_crfsuite(content);
  }
  const text::Json d = text::parse_json(parse_container(whole, "model").description);
  const text::Json* kind = d.find("kind");
  if (kind != nullptr && kind->is_text() && kind->text("kind") == "checkpoint") {
    throw std::invalid_argument("the checkpoint of a training that has not ended, not a model");
  }
  const std::string& task = d.at("task").text("the task");
  if (task == "tagger" || task == "segments") return open_labels(std::move(content));
  if (task == "chain") return open_chain(std::move(content));
  throw Unsupported("a model for the task '" + task +
                    "'; the C library reads taggers, taggers of segments, chains and CRFsuite's "
                    "models" +
                    (task == "estimator" ? ". Of an estimator over strings or dictionaries save "
                                           "to_chain()"
                                         : ""));
}

}  // namespace structlearn::library
