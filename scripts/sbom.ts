/**
 * `npm run sbom` writes sbom.cdx.json: every package of an installation without development dependencies, in the format of
 * CycloneDX 1.6. `npm sbom --omit dev` omits packages that tests also use, such as fastify.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { productionPackages } from './notices.ts'

const root = dirname(import.meta.dirname)

/** The document, as JSON. It is the same for the same lock file. */
export function makeSbom(): string {
  const { name, version, license } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const components = new Map(
    productionPackages().map((one) => {
      const purl = `pkg:npm/${one.name.replace('@', '%40')}@${one.version}`
      const hash = /^sha512-(.+)$/.exec(one.integrity)?.[1]
      const component = {
        type: 'library',
        'bom-ref': purl,
        name: one.name,
        version: one.version,
        purl,
        licenses: [{ expression: one.license }],
        ...(hash ? { hashes: [{ alg: 'SHA-512', content: Buffer.from(hash, 'base64').toString('hex') }] } : {}),
      }
      return [purl, component]
    }),
  )
  const own = {
    type: 'application',
    'bom-ref': `pkg:npm/${name}@${version}`,
    name,
    version,
    purl: `pkg:npm/${name}@${version}`,
  }
  const document = {
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: { component: { ...own, licenses: [{ license: { id: license } }] } },
    components: [...components.values()],
  }
  return `${JSON.stringify(document, null, 2)}\n`
}

if (import.meta.main) writeFileSync(join(root, 'sbom.cdx.json'), makeSbom())
