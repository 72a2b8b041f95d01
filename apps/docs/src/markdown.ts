import GithubSlugger from 'github-slugger';
import type { Link, Nodes, Root } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { toString } from 'mdast-util-to-string';
import { visit } from 'unist-util-visit';

/** The address in a link or an image, and where it is in the text. */
export interface Reference {
  readonly url: string;
  readonly isImage: boolean;
  readonly line: number;
  readonly start: number;
  readonly end: number;
}

/** The facts of a Markdown text that the site needs. */
export interface ParsedMarkdown {
  readonly title: string;
  /** The first sentence of the text; TypeDoc's lines about files and names do not count. */
  readonly summary: string;
  readonly references: readonly Reference[];
  /** The anchors that GitHub makes of the headings, and those that the text sets in HTML. */
  readonly anchors: ReadonlySet<string>;
  /** The offsets of the heading that is the title. */
  readonly titleRange: readonly [start: number, end: number];
}

export function parseMarkdown(text: string): ParsedMarkdown {
  const root = fromMarkdown(text);
  const title = root.children.find((node) => node.type === 'heading' && node.depth === 1);
  return {
    title: title ? toString(title) : '',
    summary: summaryOf(root),
    references: referencesOf(root, text),
    anchors: anchorsOf(root),
    titleRange: title ? [startOf(title), endOf(title)] : [0, 0],
  };
}

/** A link that begins an item of a list, under the heading of level 2 or the line in bold type above it. */
export interface ListedLink {
  readonly heading: string | undefined;
  readonly url: string;
  readonly label: string;
  /** The text after the link and its colon. */
  readonly description: string;
}

export function listedLinks(text: string): readonly ListedLink[] {
  const links: ListedLink[] = [];
  let heading: string | undefined;
  visit(fromMarkdown(text), (node) => {
    if (isHeading(node)) heading = toString(node);
    const link = node.type === 'listItem' ? firstLink(node.children[0]) : undefined;
    if (!link) return;
    const label = toString(link);
    links.push({ heading, url: link.url, label, description: textAfter(label, toString(node)) });
  });
  return links;
}

function isHeading(node: Nodes): boolean {
  if (node.type === 'heading') return node.depth === 2;
  return node.type === 'paragraph' && node.children.length === 1 && node.children[0]?.type === 'strong';
}

function firstLink(node: Nodes | undefined): Link | undefined {
  const child = node?.type === 'paragraph' ? node.children[0] : undefined;
  return child?.type === 'link' ? child : undefined;
}

const textAfter = (label: string, text: string): string => text.slice(label.length).replace(/^:\s*/, '');

function summaryOf(root: Root): string {
  const paragraphs = root.children.filter(({ type }) => type === 'paragraph').map((node) => toString(node));
  const text = paragraphs.find((paragraph) => !/^(?:Defined in|Re-exports|$)/.test(paragraph)) ?? '';
  const line = text.replaceAll(/\s+/g, ' ');
  return /^.*?[.:!?](?= |$)/.exec(line)?.[0].replace(/:$/, '.') ?? line;
}

function anchorsOf(root: Root): ReadonlySet<string> {
  const slugger = new GithubSlugger();
  const anchors = new Set<string>();
  visit(root, (node) => {
    if (node.type === 'heading') anchors.add(slugger.slug(toString(node)));
    if (node.type !== 'html') return;
    for (const [, id = ''] of node.value.matchAll(/\s(?:id|name)="([^"]+)"/g)) anchors.add(id);
  });
  return anchors;
}

function referencesOf(root: Root, text: string): readonly Reference[] {
  const references: Reference[] = [];
  visit(root, (node) => {
    if (node.type !== 'link' && node.type !== 'image' && node.type !== 'definition') return;
    const start = text.indexOf(node.url, labelEnd(node));
    if (start < 0 || start >= endOf(node)) return; // an address in angle brackets or with escapes: never relative
    const [isImage, line] = [node.type === 'image', node.position?.start.line ?? 0];
    references.push({ url: node.url, isImage, line, start, end: start + node.url.length });
  });
  return references;
}

/** Where the text of a link ends: its address can only follow. */
function labelEnd(node: Nodes): number {
  const last = 'children' in node ? node.children.at(-1) : undefined;
  if (last) return endOf(last);
  return startOf(node) + ('alt' in node ? (node.alt?.length ?? 0) : 0);
}

const startOf = (node: Nodes): number => node.position?.start.offset ?? 0;
const endOf = (node: Nodes): number => node.position?.end.offset ?? 0;
