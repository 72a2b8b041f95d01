/** An element of a rendered block, as far as this plugin reads it. */
interface Node {
  readonly type: string;
  readonly tagName?: string;
  readonly children?: readonly Node[];
  properties?: Record<string, unknown>;
}

/** A plugin of Expressive Code: the keyboard can scroll a code block whose lines do not wrap. */
export const focusableCode = {
  name: 'Focusable code',
  hooks: {
    postprocessRenderedBlock({ renderData }: { readonly renderData: { readonly blockAst: unknown } }): void {
      addTabIndex(renderData.blockAst as Node);
    },
  },
};

function addTabIndex(node: Node): void {
  if (node.tagName === 'pre') node.properties = { ...node.properties, tabIndex: 0 };
  for (const child of node.children ?? []) addTabIndex(child);
}
