import { isToolUIPart } from 'ai';
import type { UIMessage } from 'ai';
import { ToolCard } from './tool-card.tsx';

interface ChatMessageProps {
  readonly message: UIMessage;
  /** More of it is on the way. */
  readonly isGrowing: boolean;
}

/** One message: what the user wrote, or all that one run answered. */
export function ChatMessage({ message, isGrowing }: ChatMessageProps) {
  const { role, parts } = message;
  return (
    <article className="message" data-role={role} aria-label={role === 'user' ? 'You' : 'Assistant'}>
      {parts.map((part, index) => (
        // Parts are only ever added at the end, so their place is their identity.
        <Part key={index} part={part} isLast={isGrowing && index === parts.length - 1} />
      ))}
    </article>
  );
}

function Part({ part, isLast }: { readonly part: UIMessage['parts'][number]; readonly isLast: boolean }) {
  if (isToolUIPart(part)) return <ToolCard part={part} />;
  if (part.type === 'text') {
    return (
      <p className="text" data-growing={isLast || undefined}>
        {part.text}
      </p>
    );
  }
  if (part.type !== 'reasoning') return null;
  return (
    <details className="reasoning">
      <summary>{part.state === 'streaming' ? 'Reasoning…' : 'Reasoning'}</summary>
      <p>{part.text}</p>
    </details>
  );
}
