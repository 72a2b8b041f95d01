import type { Heading, Node, Paragraph } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { SKIP, visit } from 'unist-util-visit';
import { sentencesOf, type Passage, type Sentence } from './sentence.ts';

/** The sentences of paragraphs, lists, tables and headings; blocks of code are left out. */
export function sentencesOfMarkdown(markdown: string, firstLine = 1): readonly Sentence[] {
  const sentences: Sentence[] = [];
  visit(fromMarkdown(markdown), (node) => {
    if (node.type !== 'paragraph' && node.type !== 'heading') return undefined;
    sentences.push(...sentencesOf(passageOf(node, firstLine)));
    return SKIP;
  });
  return sentences;
}

function passageOf(block: Paragraph | Heading, firstLine: number): Passage {
  const lines: number[] = [];
  let text = '';
  visit(block, (node) => {
    const added = textOf(node);
    let line = (node.position?.start.line ?? 1) + firstLine - 1;
    for (const character of added.split('')) lines.push(character === '\n' ? line++ : line);
    text += added;
  });
  return { text: withSentenceEnds(text), lines, isTitle: block.type === 'heading' };
}

function textOf(node: Node): string {
  if (node.type === 'inlineCode') return 'Code';
  if (node.type === 'break') return ' ';
  return node.type === 'text' && 'value' in node ? String(node.value) : '';
}

/** A cell of a table begins a sentence, and so does a tag of a doc comment. */
function withSentenceEnds(text: string): string {
  return text.startsWith('|') ? text.replaceAll('|', '\n') : text.replaceAll(/\n(?!@)/g, ' ');
}
