import { getToolName, isToolUIPart, type UIMessage } from 'ai';
import { ApprovalButtons, type Decide } from './approval-buttons.tsx';
import { ToolCard } from './tool-card.tsx';

interface ChatMessageProps {
  readonly message: UIMessage;
  /** More of it is on the way. */
  readonly isGrowing: boolean;
  readonly onDecide: Decide;
}

/** One message: what the user wrote, or all that one run answered. */
export function ChatMessage({ message, isGrowing, onDecide }: ChatMessageProps) {
  const { role, parts } = message;
  return (
    <article className="message" data-role={role} aria-label={role === 'user' ? 'You' : 'Assistant'}>
      {parts.map((part, index) => (
        // Parts are only ever added at the end, so their place is their identity.
        <Part
          key={index}
          part={part}
          isGrowing={isGrowing}
          isLast={isGrowing && index === parts.length - 1}
          onDecide={onDecide}
        />
      ))}
    </article>
  );
}

interface PartProps extends Pick<ChatMessageProps, 'isGrowing' | 'onDecide'> {
  readonly part: UIMessage['parts'][number];
  readonly isLast: boolean;
}

function Part({ part, isGrowing, isLast, onDecide }: PartProps) {
  if (isToolUIPart(part)) {
    return (
      <>
        <ToolCard part={part} isLive={isGrowing} />
        {part.state === 'approval-requested' && !isGrowing && (
          <ApprovalButtons
            tool={getToolName(part)}
            input={part.input}
            id={part.approval.id}
            onDecide={onDecide}
          />
        )}
      </>
    );
  }
  if (part.type === 'text') {
    return (
      <p className="text" data-growing={isLast || undefined}>
        {part.text}
      </p>
    );
  }
  if (part.type === 'steering-message') return <p className="text steering">{textOf(part.parts)}</p>;
  if (part.type !== 'reasoning') return null;
  return (
    <details className="reasoning">
      <summary>{part.state === 'streaming' ? 'Reasoning…' : 'Reasoning'}</summary>
      <p>{part.text}</p>
    </details>
  );
}

/** The text of a message that the user sent during the run. */
function textOf(parts: UIMessage['parts']): string {
  return parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
}
