import mermaidScript from '@mermaid-js/tiny/dist/mermaid.tiny.js?url';

interface Mermaid {
  initialize(options: { readonly startOnLoad: boolean; readonly theme: string }): void;
  render(id: string, code: string): Promise<{ readonly svg: string }>;
}

/** Draws the blocks of code that are Mermaid; a page without any loads nothing. */
export async function drawDiagrams(): Promise<void> {
  const blocks = document.querySelectorAll<HTMLElement>('pre[data-language="mermaid"]');
  if (blocks.length === 0) return;
  const mermaid = await loadMermaid();
  mermaid.initialize({ startOnLoad: false, theme: 'neutral' });
  for (const [index, block] of [...blocks].entries()) await draw(mermaid, block, `diagram-${index}`);
}

/** Mermaid in one file is a script, which sets a global variable. */
async function loadMermaid(): Promise<Mermaid> {
  const script = document.createElement('script');
  script.src = mermaidScript;
  const loading = Promise.withResolvers<Event>();
  script.addEventListener('load', loading.resolve);
  script.addEventListener('error', loading.reject);
  document.head.append(script);
  await loading.promise;
  return (globalThis as unknown as { readonly mermaid: Mermaid }).mermaid;
}

async function draw(mermaid: Mermaid, block: HTMLElement, id: string): Promise<void> {
  const code = [...block.querySelectorAll('.ec-line')].map((line) => line.textContent.trimEnd()).join('\n');
  const { svg } = await mermaid.render(id, code);
  const figure = document.createElement('figure');
  figure.className = 'diagram';
  figure.innerHTML = svg;
  (block.closest('.expressive-code') ?? block).replaceWith(figure);
}
