"""Examples that end the help of each command."""

from __future__ import annotations

#: Command, as it is called -> what to write, and what that does.
EXAMPLES: dict[str, tuple[tuple[str, str], ...]] = {
    "structlearn": (
        ("structlearn demo", "a tour on built-in data"),
        ("structlearn train ner train.txt --model names.model", "learn to find names"),
    ),
    "structlearn train": (
        ("structlearn train pos train.conllu --model tags.model", "a part-of-speech tagger"),
        ("structlearn train parser --help", "what the training of a parser takes"),
    ),
    "structlearn train tagger": (
        (
            "structlearn train tagger train.txt --model tags.model --dev dev.txt",
            "keep the pass that is best on dev.txt",
        ),
        (
            "structlearn train tagger train.conllu --target upos,xpos,feats --model all.model",
            "other columns, learned as one label",
        ),
    ),
    "structlearn train pos": (
        ("structlearn train pos train.conllu --model tags.model", "the column upos"),
        ("structlearn train pos words.csv --model tags.model --n-models 1", "one model: faster"),
    ),
    "structlearn train chunks": (
        (
            "structlearn train chunks train.txt --model chunks.model --dev dev.txt",
            "lines such as: He PRP B-NP",
        ),
        (
            "structlearn train chunks train.txt --learner crf --C 0.3 --model chunks.model",
            "a conditional random field",
        ),
    ),
    "structlearn train ner": (
        (
            "structlearn train ner train.txt --model names.model --dev dev.txt",
            "lines such as: Paris B-LOC",
        ),
        (
            "structlearn train ner train.jsonl --model names.model",
            '{"tokens": [...], "tags": [...]}',
        ),
    ),
    "structlearn train words": (
        (
            "structlearn train words cut.txt --dev dev.txt --model words.model",
            "words with blanks between them",
        ),
        (
            "structlearn train words cut.conllu --dictionary more.txt --model words.model",
            "with words of a dictionary to look for",
        ),
    ),
    "structlearn train pipeline": (
        (
            "structlearn train pipeline train.conllu --dev dev.conllu --model text.model",
            "a treebank of Universal Dependencies, with comments '# text = ...'",
        ),
        (
            "structlearn train pipeline train.conllu --model text.model --precision int8 "
            "--hash-bits 22",
            "a smaller file",
        ),
    ),
    "structlearn annotate": (
        (
            "structlearn annotate text.model letter.txt --output letter.conllu",
            "sentences, tokens, tags, lemmas and trees",
        ),
        (
            "structlearn annotate english - --format json",
            "the English model (pip install ./models/english), on what is typed",
        ),
    ),
    "structlearn train segments": (
        (
            "structlearn train segments train.txt --model names.model --dev dev.txt",
            "lines such as: Paris NNP B-LOC",
        ),
        (
            "structlearn train segments train.txt --learner crf --max-length 5 --model names.model",
            "probabilities of segments; at most five words long",
        ),
    ),
    "structlearn train parser": (
        (
            "structlearn train parser train.conllu --model parser.model --dev dev.conllu",
            "the most accurate",
        ),
        (
            "structlearn train parser train.conllu --order 1 --model fast.model",
            "single arcs only: much faster",
        ),
    ),
    "structlearn train constituency": (
        (
            "structlearn train constituency train.mrg.gz --model trees.model --dev dev.mrg",
            "trees such as: (S (NP (NNS Fish)) (VP (VBP sleep)))",
        ),
        (
            "structlearn train constituency train.mrg --learner pcfg --model grammar.model",
            "count the rules: seconds",
        ),
    ),
    "structlearn train segmenter": (
        (
            "structlearn train segmenter FOLDER --model shapes.model",
            "FOLDER has images/ and masks/, paired by name",
        ),
        (
            "structlearn train segmenter FOLDER --superpixels 500 --model regions.model",
            "regions instead of pixels",
        ),
    ),
    "structlearn predict": (
        ("structlearn predict tags.model input.txt --output labelled.txt", "a file"),
        (
            "echo 'Fish sleep .' | structlearn predict tags.model - --format text",
            "a sentence, its words separated by spaces",
        ),
    ),
    "structlearn evaluate": (
        (
            "structlearn evaluate tags.model test.txt --confusions 10",
            "scores, and what is confused",
        ),
        ("structlearn evaluate tags.model test.txt --json", "the same for programs"),
    ),
    "structlearn rank": (
        ("structlearn rank ner.model pool.txt --least-sure 20", "the next sentences to label"),
        (
            "structlearn rank ner.model pool.csv --by mean --output next.jsonl",
            "a file with them, their labels and the reason",
        ),
    ),
    "structlearn label": (
        (
            "structlearn label texts.txt --labels PER,ORG,LOC --model names.model",
            "answers go to labels.jsonl",
        ),
        (
            "structlearn label gold.jsonl --review --model names.model --data mended.jsonl",
            "where the model contradicts the labels of gold.jsonl",
        ),
    ),
    "structlearn agree": (
        (
            "structlearn agree answers.csv --annotator who --output one.jsonl",
            "a column who beside sentence, token and label",
        ),
        ("structlearn agree wide.csv --annotator ann,bob,cy", "a column of labels for each"),
    ),
    "structlearn inspect": (
        ("structlearn inspect tags.model --label NOUN --top 5", "features for and against a label"),
        (
            "structlearn inspect tags.model --sentence 'Fish sleep .' --html page.html",
            "a page on what decided",
        ),
    ),
    "structlearn convert": (
        ("structlearn convert export.jsonl brat/", "a folder that brat can open"),
        ("structlearn convert project.json train.txt --tokens words", "columns, a token a line"),
    ),
    "structlearn convert-model": (
        (
            "structlearn convert-model wapiti.model tags.model",
            "a model of Wapiti's or CRF++'s for predict, evaluate and inspect",
        ),
        (
            "structlearn convert-model crf.model crf.crfsuite --boundaries BOS EOS",
            "ours for CRFsuite, whose first and last tokens then have these attributes",
        ),
    ),
    "structlearn serve": (
        (
            "structlearn serve english --port 8000",
            """curl -H 'Content-Type: application/json' -d '{"text": "Fish sleep."}' """
            "http://127.0.0.1:8000/v1/annotate",
        ),
        (
            "structlearn serve tags=tags.model names=ner.model --host 0.0.0.0 --workers 4 "
            "--token-file tokens --allow-host nlp.example.org",
            "two models for other machines, on four cores",
        ),
    ),
    "structlearn demo": (
        ("structlearn demo", "1500 sentences, some seconds"),
        ("structlearn demo --files data", "small files to try the other commands on"),
    ),
    "structlearn workbench": (
        ("structlearn workbench", "open the page in a browser"),
        (
            "structlearn workbench tags.model --no-browser",
            "print its link; the page can try tags.model on your text",
        ),
    ),
}
