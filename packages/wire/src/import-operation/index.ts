/** Importing operations of definitions from documents of others. The console and the command line read the documents. */

export { ImportRefused, type Place } from './document.ts'
export { type ImportedOperation, importOperation } from './import-operation.ts'
