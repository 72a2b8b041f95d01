import {
  assembleMessage,
  type AssistantMessage,
  type AssistantPart,
  type Message,
  type ToolMessage,
  type ToolResultPart,
} from '../../state/messages/messages.ts';
import type { RequestForm } from '../inference/request-form.ts';
import { addNeedsOfCalls, isCall } from './needs-of-calls.ts';

/** Parts with one call at most, and the results of the call. */
interface Piece {
  readonly parts: AssistantPart[];
  readonly results: ToolResultPart[];
}

/**
 * Returns an answer with its results as messages with one call each, which ends right before its result; `undefined` for
 * an answer that has this form.
 */
export function withSingleCalls(
  answer: AssistantMessage,
  results: ToolMessage,
  form: RequestForm,
): readonly Message[] | undefined {
  const pieces = piecesOf(answer);
  if (pieces.length < 2 && answer.content.findIndex(isCall) === answer.content.length - 1) return undefined;
  for (const result of results.content) (pieceOf(pieces, result) ?? pieces.at(-1))?.results.push(result);
  return pieces.flatMap((piece) => {
    const parts = [...piece.parts.filter((part) => !isCall(part)), ...piece.parts.filter(isCall)];
    addNeedsOfCalls(parts, form);
    const [call, result] = [
      assembleMessage('assistant', { ...answer, content: Object.freeze(parts) }),
      assembleMessage('tool', { ...results, content: Object.freeze(piece.results) }),
    ];
    return piece.results.length === 0 ? [call] : [call, result];
  });
}

function piecesOf({ content }: AssistantMessage): readonly Piece[] {
  const pieces: Piece[] = [{ parts: [], results: [] }];
  for (const part of content) {
    if (isCall(part) && pieces.at(-1)?.parts.some(isCall)) pieces.push({ parts: [], results: [] });
    pieces.at(-1)?.parts.push(part);
  }
  return pieces;
}

function pieceOf(pieces: readonly Piece[], { toolCallId }: ToolResultPart): Piece | undefined {
  return pieces.find(({ parts }) => parts.some((part) => isCall(part) && part.toolCallId === toolCallId));
}
