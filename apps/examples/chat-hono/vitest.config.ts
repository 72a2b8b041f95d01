import { project } from '../../../vitest.base.ts';

export default project('chat-hono');
