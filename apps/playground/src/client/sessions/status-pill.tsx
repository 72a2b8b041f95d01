import type { SessionSummary } from '../../view/session-summary.ts';
import { inWords } from '../format.ts';

type Shown = Pick<SessionSummary, 'isRunning' | 'executionStatus'>;

/** How far the session's execution has got, in a word and a colour. */
export function StatusPill({ session }: { readonly session: Shown }) {
  const [tone, text] = statusOf(session);
  return (
    <span className="pill" data-tone={tone}>
      {text}
    </span>
  );
}

function statusOf({ isRunning, executionStatus }: Shown): readonly [string, string] {
  if (isRunning) return ['running', 'running'];
  if (executionStatus === 'suspended') return ['waiting', 'waiting for you'];
  return executionStatus === undefined ? ['idle', 'idle'] : [executionStatus, inWords(executionStatus)];
}
