import { createRoot } from 'react-dom/client';
import { config } from 'zod';
import { App } from './app.tsx';

// The page's content policy forbids code made from text, which zod would otherwise try.
config({ jitless: true });

const root = document.querySelector('#root');
if (root) createRoot(root).render(<App />);
