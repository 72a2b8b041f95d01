/** Input that the command cannot use. The command prints the message on one line and exits with 2. */
export class InputError extends Error {}
