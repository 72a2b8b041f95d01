/** A table that is wider than the page scrolls, so the keyboard must reach it. */
export function focusWideTables(): void {
  const observer = new ResizeObserver((entries) => {
    for (const { target } of entries) setFocusable(target, isWide(target));
  });
  for (const table of document.querySelectorAll('.sl-markdown-content table')) observer.observe(table);
}

function setFocusable(table: Element, isFocusable: boolean): void {
  if (isFocusable) table.setAttribute('tabindex', '0');
  else table.removeAttribute('tabindex');
}

const isWide = ({ scrollWidth, clientWidth }: Element): boolean => scrollWidth > clientWidth;
