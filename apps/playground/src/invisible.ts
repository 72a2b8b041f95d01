/** Characters that show nothing, or that reorder other characters. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/u;
const PIECES = /[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]+|./gsu;

/** A piece of a text: visible characters, or the name of one that is not, such as `U+202E`. */
export interface TextPiece {
  readonly text: string;
  readonly isMark: boolean;
}

/** Splits a text at its invisible characters, and names each of them. Line ends and tabs stay. */
export function visiblePieces(text: string): readonly TextPiece[] {
  return (text.match(PIECES) ?? []).map((piece) =>
    INVISIBLE.test(piece) && piece !== '\n' && piece !== '\t'
      ? { text: `U+${(piece.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`, isMark: true }
      : { text: piece, isMark: false },
  );
}

/** Returns a text that cannot control a terminal: it names its invisible characters in brackets. */
export function printable(text: string): string {
  return visiblePieces(text)
    .map((piece) => (piece.isMark ? `<${piece.text}>` : piece.text))
    .join('');
}
