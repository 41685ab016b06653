/**
 * Exports of Node's server, without `import`: an import reads every export of the module, and one export of `node:http`
 * is a client that costs 60 ms and 14 MB.
 */
export const { createServer, METHODS } = process.getBuiltinModule('node:http')
