/** The variable with the slugs of the connectors that changes affect, with commas, in a run of `--changed`. */
export const connectorsVariable = 'PENSTOCK_TEST_CONNECTORS'

const chosen = process.env[connectorsVariable]?.split(',')

/** Whether a large test of all connectors tries this one: all of them, unless changes affect only some. */
export const isChosen = ({ slug }: { readonly slug: string }): boolean => chosen?.includes(slug) ?? true
