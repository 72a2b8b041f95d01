import type { MessageView } from '../session-view.ts';
import { JsonView } from './json-view.tsx';

/** The stored conversation, with the tags that say which step made a message and whether it is part of the answer. */
export function MessageLedger({ messages }: { readonly messages: readonly MessageView[] }) {
  if (messages.length === 0) return <p className="quiet">The conversation is empty.</p>;
  return (
    <ul className="stored">
      {messages.map(({ message, summary, stepNumber, isTrace }) => (
        <li key={message.id}>
          <details>
            <summary>
              <span className="role" data-role={message.role}>
                {message.role}
              </span>
              <span className="stored-summary">{summary}</span>
              {stepNumber !== undefined && <span className="tag">step {stepNumber}</span>}
              {isTrace && <span className="tag">trace</span>}
            </summary>
            <JsonView value={message} />
          </details>
        </li>
      ))}
    </ul>
  );
}
