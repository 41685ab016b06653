import { transferErrors } from '@penstock/wire'

/** Advice about an error of a transfer, in the words of the contract, which the pages of the documents have too. */

/** Advice by the code of an error; undefined for a code that the contract does not have, as of an earlier version. */
export const adviceOf = (code: string): string | undefined =>
  Object.hasOwn(transferErrors, code) ? transferErrors[code as keyof typeof transferErrors].todo : undefined

/** The same for a preview, which has no transfer to start again. */
export const adviceBeforeTransfer = (code: string): string | undefined =>
  adviceOf(code)
    ?.replace(/[,;]? then (?:activate the connection|start (?:a new|the) transfer(?: again)?)/, ', then preview again')
    .replace(/^Start (?:a new|the) transfer(?: again)?/, 'Preview again')
