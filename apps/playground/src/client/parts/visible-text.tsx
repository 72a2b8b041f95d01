import { visiblePieces } from '../../invisible.ts';

/** A text as it is: a character that shows nothing or reorders others appears as a mark with its name. */
export function VisibleText({ text }: { readonly text: string }) {
  return visiblePieces(text).map((piece, index) =>
    piece.isMark ? (
      // The text does not change, so the place of a piece is its identity.
      <mark key={index} className="invisible-character" title="an invisible character">
        {piece.text}
      </mark>
    ) : (
      piece.text
    ),
  );
}
