import type { ModelInfo } from './api.ts';
import { Composer } from './composer.tsx';
import { Notice } from './notice.tsx';

const examples = [
  ['what is 17 * 23? remember it', 'Two tools, one after the other'],
  ['send a book to Ann', 'Takes 3 seconds and leaves a line in outbox.txt'],
  ['pay Ann 250 euros', 'Waits for your approval, also after a restart'],
  ['what time is it in Tokyo and in Vienna?', 'Two calls in parallel'],
  ['what do you remember?', 'Reads the notes of every session'],
] as const;

interface WelcomeProps {
  readonly model: ModelInfo | undefined;
  readonly problem: string | undefined;
  readonly onStart: (text: string) => void;
}

/** The screen without a session: an introduction, and examples of messages. */
export function Welcome({ model, problem, onStart }: WelcomeProps) {
  return (
    <>
      <main className="chat" aria-label="Conversation">
        <div className="scroll welcome" tabIndex={0} role="region" aria-label="Introduction">
          <h2>An agent whose state can be held</h2>
          <p>
            Every message and every step is saved as it happens. Kill the server in the middle of a run, start
            it again, and continue the run.
          </p>
          <ul className="examples">
            {examples.map(([prompt, explanation]) => (
              <li key={prompt}>
                <button type="button" onClick={() => onStart(prompt)}>
                  <span className="example-prompt">{prompt}</span>
                  <span className="quiet">{explanation}</span>
                </button>
              </li>
            ))}
          </ul>
          {model?.isOffline && (
            <p className="quiet">
              No <code>OPENAI_API_KEY</code> is set: the built-in offline model answers. It follows rules,
              needs no network, and says so.
            </p>
          )}
        </div>
        {problem !== undefined && <Notice tone="bad">{problem}</Notice>}
        <Composer isRunning={false} onSend={onStart} />
      </main>
      <aside className="state" aria-label="State">
        <div className="state-empty">
          <p>The state appears here: status, budget, steps, tool calls, messages, stop signals.</p>
        </div>
      </aside>
    </>
  );
}
