/** How the terminal shows emphasis. */
export interface Style {
  readonly dim: (text: string) => string;
  readonly bold: (text: string) => string;
  readonly accent: (text: string) => string;
  readonly good: (text: string) => string;
  readonly bad: (text: string) => string;
}

/** Colours on a terminal that wants them, else plain text. */
export function styleFor({ isTTY }: { readonly isTTY?: boolean }, noColor: string | undefined): Style {
  const paint = (open: number, close: number) => (text: string) =>
    isTTY === true && !noColor ? `\u001B[${open}m${text}\u001B[${close}m` : text;
  return {
    dim: paint(2, 22),
    bold: paint(1, 22),
    accent: paint(36, 39),
    good: paint(32, 39),
    bad: paint(31, 39),
  };
}
