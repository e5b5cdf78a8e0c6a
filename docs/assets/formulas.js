// Typeset the formulas that pymdownx.arithmatex marked, with the KaTeX of this site.
for (const element of document.querySelectorAll(".arithmatex")) {
  const [, open, formula] = element.textContent.match(/^(\\[([])([^]*)\\[)\]]$/);
  katex.render(formula, element, { displayMode: open === "\\[", throwOnError: true });
}
