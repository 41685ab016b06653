/**
 * What the service needs of Node's server, and not by `import`: that reads every export of a module as it loads, and one of
 * `node:http` is a client, of 60 ms and 14 MB.
 */
export const { createServer, METHODS } = process.getBuiltinModule('node:http')
