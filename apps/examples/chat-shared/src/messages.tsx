import { waitsForOthers } from '@holdfast/ui-ai-sdk/transport';
import { isToolUIPart, type ChatAddToolApproveResponseFunction, type UIMessage } from 'ai';
import type { ReactNode } from 'react';

interface MessagesProps {
  readonly messages: readonly UIMessage[];
  /** Sends the decision of the user on a call. */
  readonly decide: ChatAddToolApproveResponseFunction;
}

/** Shows messages: their texts, and their calls with input, output and state. */
export function Messages({ messages, decide }: MessagesProps): ReactNode {
  return messages.map(({ id, role, parts }) => (
    <article key={id} className={role}>
      {parts.map((part, index) => shownPart(part, index, decide))}
    </article>
  ));
}

function shownPart(
  part: UIMessage['parts'][number],
  key: number,
  decide: MessagesProps['decide'],
): ReactNode {
  if (part.type === 'text') return <p key={key}>{part.text}</p>;
  if (part.type === 'steering-message')
    return <blockquote key={key}>{part.parts.map((each) => 'text' in each && each.text)}</blockquote>;
  if (!isToolUIPart(part)) return null;
  const { approval, input, output, state, type } = part;
  return (
    <p key={key} className={state}>
      {type}({JSON.stringify(input)}) {JSON.stringify(output)}
      {waitsForOthers(part) && <em>{approval?.requestReason}</em>}
      {state === 'approval-requested' && !waitsForOthers(part) && (
        <>
          <button onClick={() => void decide({ id: approval.id, approved: true })}>Approve</button>
          <button onClick={() => void decide({ id: approval.id, approved: false })}>Deny</button>
        </>
      )}
    </p>
  );
}
