/** The text of an input in the typeface of code; its label and its help stay as they are. */
export const mono = { input: { fontFamily: 'var(--mantine-font-family-monospace)' } }
