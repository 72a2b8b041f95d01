import type { ServerInfo } from '../api.ts';
import { Composer } from './composer.tsx';
import { Notice } from '../parts/notice.tsx';

const examples = [
  ['what is 17 * 23? remember it', 'Two tools, one after the other'],
  ['send a book to Ann', 'Takes 3 seconds and leaves a line in outbox.txt'],
  ['pay Ann 250 euros', 'Waits for your approval, also after a restart'],
  ['what time is it in Tokyo and in Vienna?', 'Two calls in parallel'],
  ['what do you remember?', 'Reads the notes of every session'],
] as const;

interface WelcomeProps {
  readonly server: ServerInfo | undefined;
  readonly isConnected: boolean;
  /** True while the server does not have the first message. */
  readonly isSending: boolean;
  readonly problem: string | undefined;
  /** Begins a session with a message; true as soon as the server has it. */
  readonly onStart: (text: string) => Promise<boolean>;
  readonly onStop: () => void;
}

/** The screen without a session: an introduction, and examples of messages. */
export function Welcome({ server, isConnected, isSending, problem, onStart, onStop }: WelcomeProps) {
  return (
    <>
      <main className="chat" aria-label="Conversation">
        <div className="scroll welcome" tabIndex={0} role="region" aria-label="Introduction">
          <h2>An agent whose state can be held</h2>
          <p>
            {server?.store === 'memory'
              ? 'The sessions are in memory, and end with the server. Another store keeps every step.'
              : 'Every message and every step is saved as it happens. Kill the server in the middle of a run and start it again: the run continues.'}
          </p>
          <ul className="examples">
            {examples.map(([prompt, explanation]) => (
              <li key={prompt}>
                <button type="button" disabled={isSending} onClick={() => void onStart(prompt)}>
                  <span className="example-prompt">{prompt}</span>
                  <span className="quiet">{explanation}</span>
                </button>
              </li>
            ))}
          </ul>
          {server?.isOffline && (
            <p className="quiet">
              No <code>OPENAI_API_KEY</code> is set: the built-in offline model answers. It follows rules,
              needs no network, and says so.
            </p>
          )}
        </div>
        {!isConnected && (
          <Notice tone="warn">
            The server does not answer. The page keeps what you sent, and tries again…
          </Notice>
        )}
        {problem !== undefined && <Notice tone="bad">{problem}</Notice>}
        <Composer
          draft="new"
          isSending={isSending}
          onSend={onStart}
          onStop={isSending ? onStop : undefined}
        />
      </main>
      <aside className="state" aria-label="State">
        <div className="state-empty">
          <p>The state appears here: status, budget, steps, tool calls, messages, stop signals.</p>
        </div>
      </aside>
    </>
  );
}
