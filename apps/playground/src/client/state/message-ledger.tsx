import { useState } from 'react';
import type { MessageView } from '../../view/session-view.ts';
import { fetchMessage } from '../api.ts';
import { JsonView } from '../parts/json-view.tsx';

interface MessageLedgerProps {
  readonly sessionId: string;
  /** The last messages. */
  readonly messages: readonly MessageView[];
  /** The number of all messages. */
  readonly count: number;
}

/** The stored conversation, with the tags that say which step made a message and whether it is part of the answer. */
export function MessageLedger({ sessionId, messages, count }: MessageLedgerProps) {
  if (count === 0) return <p className="quiet">The conversation is empty.</p>;
  return (
    <>
      {count > messages.length && (
        <p className="quiet">The last {messages.length} messages. The raw state has all of them.</p>
      )}
      <ul className="stored">
        {messages.map((message) => (
          <li key={message.id}>
            <StoredMessage sessionId={sessionId} message={message} />
          </li>
        ))}
      </ul>
    </>
  );
}

interface StoredMessageProps extends Pick<MessageLedgerProps, 'sessionId'> {
  readonly message: MessageView;
}

/** One message, whose content is loaded when it is opened: a message never changes. */
function StoredMessage({ sessionId, message }: StoredMessageProps) {
  const { id, role, summary, stepNumber, isTrace } = message;
  const [content, setContent] = useState<unknown>();
  const load = () => {
    if (content === undefined) fetchMessage(sessionId, id).then(setContent, () => undefined);
  };
  return (
    <details onToggle={load}>
      <summary>
        <span className="role" data-role={role}>
          {role}
        </span>
        <span className="stored-summary">{summary}</span>
        {stepNumber !== undefined && <span className="tag">step {stepNumber}</span>}
        {isTrace && <span className="tag">trace</span>}
      </summary>
      {content !== undefined && <JsonView value={content} />}
    </details>
  );
}
