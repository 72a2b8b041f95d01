import ts from 'typescript';
import { sentencesOfMarkdown } from './markdown.ts';
import { sentencesOf, type Sentence } from './sentence.ts';

/** The sentences of comments, and of strings with spaces: messages, descriptions, texts of a page. */
export function sentencesOfTypeScript(path: string, source: string): readonly Sentence[] {
  const file = ts.createSourceFile(path, source, ts.ScriptTarget.Latest, false);
  const lineAt = (at: number) => file.getLineAndCharacterOfPosition(at).line + 1;
  const comments = commentsOf(file).map(({ pos, end }) => ({ at: pos, text: source.slice(pos, end) }));
  return [
    ...joinedLines(comments, lineAt).flatMap(({ text, line }) => sentencesOfMarkdown(text, line)),
    ...textsOf(file).flatMap(({ at, text }) => sentencesOfText(text, lineAt(at))),
  ];
}

function sentencesOfText(text: string, line: number): readonly Sentence[] {
  return text.includes(' ') ? sentencesOf({ text, lines: Array.from(text, () => line), isTitle: false }) : [];
}

interface Place {
  readonly at: number;
  readonly text: string;
}

function commentsOf(file: ts.SourceFile): readonly ts.CommentRange[] {
  const found = new Map<number, ts.CommentRange>();
  const visit = (node: ts.Node): void => {
    const leading = ts.getLeadingCommentRanges(file.text, node.pos) ?? [];
    const trailing = ts.getTrailingCommentRanges(file.text, node.end) ?? [];
    for (const range of [...leading, ...trailing]) found.set(range.pos, range);
    ts.forEachChild(node, visit);
  };
  visit(file);
  return [...found.values()].toSorted((a, b) => a.pos - b.pos);
}

/** The words of comments; `//` comments on consecutive lines are one text. */
function joinedLines(comments: readonly Place[], lineAt: (at: number) => number) {
  const joined: { text: string; line: number }[] = [];
  let next = -1;
  for (const { at, text } of comments) {
    const line = lineAt(at);
    const previous = joined.at(-1);
    if (previous && line === next && text.startsWith('//')) previous.text += `\n${wordsOf(text)}`;
    else joined.push({ text: wordsOf(text), line });
    next = text.startsWith('//') ? line + 1 : -1;
  }
  return joined;
}

function wordsOf(comment: string): string {
  const lines = comment.replace(/^\/\*\*?|\*\/$/g, '').split('\n');
  const words = lines.map((line) => line.replace(/^\s*(?:\*|\/\/)?\s*/, ''));
  const text = words.join('\n').replaceAll(/\{@\w+ ([^}|]*)[^}]*\}/g, '`$1`');
  return text.replaceAll(/ (?=@(?:throws|returns|param)\b)/g, '\n');
}

/** Strings, and the fixed parts of templates: each value in a template is `Code`. */
function textsOf(file: ts.SourceFile): readonly Place[] {
  const found: Place[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isStringLiteralLike(node) || ts.isJsxText(node))
      found.push({ at: node.getStart(file), text: node.text });
    if (ts.isTemplateExpression(node)) {
      const text = [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)].join('Code');
      found.push({ at: node.getStart(file), text });
    }
    ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}
