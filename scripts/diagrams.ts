/** `npm run diagrams` draws the diagrams of the guides into `docs/diagrams/`. A test checks that they are up to date. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { diagrams } from './diagrams/diagrams.ts'
import { drawDiagram } from './diagrams/draw.ts'

const folder = join(import.meta.dirname, '../docs/diagrams')
await mkdir(folder, { recursive: true })
for (const diagram of diagrams) await writeFile(join(folder, `${diagram.name}.svg`), drawDiagram(diagram))
