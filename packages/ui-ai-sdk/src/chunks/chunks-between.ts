import { checkArgument, mustBe, optionsCheck } from '@holdfast/core/driver';
import type { UIMessage } from 'ai';
import {
  messageDifference,
  type ChunksBetweenOptions,
  type MessageDifference,
} from './message-difference.ts';

const checkOptions = optionsCheck<ChunksBetweenOptions>('chunksBetween', { isNewStream: mustBe.boolean });

/**
 * Returns the chunks of the AI SDK's UI message stream that turn the message that a page shows into the wanted message of
 * `toUIMessages`. The chunks do not depend on the way that led to either message, so a step, a rollback and a reconnect
 * are one case. A message without parts gives no chunks: no chunk could take its start back.
 *
 * The cost is that of the parts that differ; equal parts that are one object cost nothing.
 * @param shown the message that the page shows: `shown` of the difference before; `undefined` for none.
 * @throws RangeError or TypeError `ARGUMENT_INVALID` for an unknown option or an invalid value.
 */
export function chunksBetween(
  shown: UIMessage | undefined,
  wanted: UIMessage,
  options: ChunksBetweenOptions = {},
): MessageDifference {
  const checked = checkOptions(options);
  checkArgument('The wanted message', wanted, mustBe.object);
  return messageDifference(shown, wanted, checked);
}
