/**
 * A program that loads the code of a package once, reports which connector it defines, and ends. It runs before the package is
 * added, in a process that can read only that package. So loading the definition later, in any runner, has no other effect.
 */
import { registerHooks } from 'node:module'
import { pathToFileURL } from 'node:url'
import { writeDefinition } from '@penstock/connectors/installed'
import { connectorsOf, importPackage } from '@penstock/connectors/installed/load'
import { useKit } from '@penstock/connectors/installed/use-kit'

/** Modules that reach out of the process: a definition imports it when a connector is opened, not before. */
const outward =
  /^node:(?:child_process|cluster|dgram|dns|dns\/promises|http|http2|https|inspector|net|repl|tls|worker_threads|wasi)$/
const [code = '', root = ''] = process.argv.slice(2)

// Does not start when this file is compiled.
if (process.connected && root !== '') await probe()

async function probe(): Promise<void> {
  const refuse = (message: string) => process.send?.({ refusal: message }, () => process.exit(0))
  process.on('uncaughtException', (error) => refuse(`its definition throws: ${firstLine(error)}`))
  process.on('unhandledRejection', (error) => refuse(`its definition throws: ${firstLine(error)}`))
  let eager: string | undefined
  const reach = (what: string) => () => {
    eager ??= what
    throw new Error('A definition uses no network')
  }
  // `fetch` needs no import.
  globalThis.fetch = reach('fetch') as typeof fetch
  globalThis.WebSocket = reach('WebSocket') as unknown as typeof WebSocket
  useKit()
  registerHooks({
    resolve(specifier, context, next) {
      const found = next(specifier, context)
      if (outward.test(found.url) && context.parentURL?.startsWith(pathToFileURL(code).href)) eager ??= found.url
      return found
    },
  })
  try {
    const found = connectorsOf(await importPackage(root))
    const [connector, second] = found
    if (eager !== undefined)
      refuse(`its definition uses ${eager} as it is loaded: import it in the function that needs it`)
    else if (!connector) refuse('it exports no connector: export what defineConnector returns')
    else if (second) refuse(`it exports ${found.length} connectors, and a package has one`)
    else process.send?.({ definition: JSON.stringify(writeDefinition(connector)) }, () => process.exit(0))
  } catch (error) {
    refuse(
      eager === undefined
        ? `its definition cannot be loaded: ${firstLine(error)}`
        : `its definition uses ${eager} as it is loaded: import it in the function that needs it`,
    )
  }
}

function firstLine(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return text.split('\n', 1)[0]?.replace(/\.$/, '') ?? ''
}
