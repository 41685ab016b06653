import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { freePort, prepareStage } from './process.ts'
import { findProgram } from './programs.ts'
import { until } from './until.ts'

const folder = join(import.meta.dirname, '../../deploy/caddy')

/**
 * Starts Caddy, which must be installed (`skipWithout('caddy')`), until the test has ended. It uses a shipped configuration, in
 * which only addresses are replaced: TLS needs a public name.
 * @param site the name of the site in the configuration
 * @param upstreams each upstream of the configuration, and where the process of the test listens
 * @returns the address of the proxy
 */
export async function startCaddy(
  t: { after(work: () => Promise<void>): void },
  file: 'Caddyfile' | 'compose.Caddyfile',
  site: string,
  upstreams: Readonly<Record<string, string>>,
): Promise<string> {
  const program = findProgram('caddy')
  assert(program, 'caddy is not installed')
  const stage = await prepareStage(t)
  const url = `http://127.0.0.1:${await freePort()}`
  let text = await readFile(join(folder, file), 'utf8')
  for (const [shipped, used] of Object.entries({ [`${site} {`]: `${url} {`, ...upstreams })) {
    assert(text.includes(shipped), `${file} does not contain ${shipped}`)
    text = text.replace(shipped, used)
  }
  const config = join(stage.base, 'Caddyfile')
  await writeFile(config, `{\n\tadmin off\n}\n${text}`)
  const caddy = stage.start(program, ['run', '--config', config, '--adapter', 'caddyfile'], {
    env: { HOME: stage.base, XDG_DATA_HOME: stage.base, XDG_CONFIG_HOME: stage.base },
  })
  await until('Caddy answers', async () => {
    if (caddy.hasEnded) assert.fail(caddy.said.stderr)
    return (await fetch(`${url}/healthz`).catch(() => undefined))?.ok
  })
  return url
}
