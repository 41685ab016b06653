/** The text of an input in the typeface of code; its label and its help stay as they are. */
export const mono = { input: { fontFamily: 'var(--mantine-font-family-monospace)' } }

/** The same for one line of the usual size. At 14 pixels, browsers cut off the underscores of common typefaces. */
export const monoLine = { input: { ...mono.input, fontSize: '15px' } }
