import { statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { Gauge, type Registry } from 'prom-client'
import type { Config } from '../config.ts'

/** The directories that a process writes to, by the names of their metrics. */
export type Disks = Readonly<Record<string, string>>

export const disksOf = ({ dataDirectory }: Config): Disks => ({ data: dataDirectory, temporary: tmpdir() })

/** Measures the disks of these directories. One that does not exist has no figure. */
export function observeDisks(registry: Registry, disks: Disks): void {
  const measure = (gauge: Gauge<'disk'>, blocks: 'blocks' | 'bavail') =>
    Promise.all(
      Object.entries(disks).map(async ([disk, directory]) => {
        const found = await statfs(directory).catch(() => undefined)
        if (found) gauge.set({ disk }, found[blocks] * found.bsize)
        else gauge.remove({ disk })
      }),
    )
  for (const [name, help, blocks] of [
    ['penstock_disk_free_bytes', 'Free space of the disk of a directory that this process writes to', 'bavail'],
    ['penstock_disk_size_bytes', 'Size of the same disk', 'blocks'],
  ] as const) {
    new Gauge({
      name,
      help,
      labelNames: ['disk'],
      registers: [registry],
      async collect() {
        await measure(this, blocks)
      },
    })
  }
}
