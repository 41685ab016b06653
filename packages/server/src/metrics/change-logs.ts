import { Gauge, type Registry } from 'prom-client'
import { absent, type DatabaseFigures, sharedAnswer } from './database.ts'

/** Measures the logs that servers keep for connections, and how far these are behind. */
export function observeChangeLogs(registers: Registry[], figures: DatabaseFigures['changeLogs']): void {
  const logs = sharedAnswer(figures)
  const labelNames = ['connection', 'slot'] as const
  new Gauge({
    name: 'penstock_change_log_kept_bytes',
    help: `Bytes of its log that the server of a source keeps for a connection, also a disabled or deleted one; the 100 largest; ${absent}`,
    labelNames,
    registers,
    async collect() {
      const found = await logs()
      this.reset()
      for (const { connectionId, slot, keptBytes } of found?.largest ?? []) {
        this.set({ connection: connectionId, slot }, keptBytes ?? 0)
      }
    },
  })
  new Gauge({
    name: 'penstock_change_log_behind_seconds',
    help: `How long ago everything was committed that a connection has delivered; the 100 furthest behind; ${absent}`,
    labelNames,
    registers,
    async collect() {
      const found = await logs()
      this.reset()
      for (const { connectionId, slot, behindSeconds } of found?.latest ?? []) {
        this.set({ connection: connectionId, slot }, behindSeconds ?? 0)
      }
    },
  })
  new Gauge({
    name: 'penstock_change_logs_warning',
    help: `Connections whose log needs attention: the server keeps much of it, or will not have the changes; ${absent}`,
    registers,
    async collect() {
      const found = await logs()
      if (found) this.set(found.warnings)
      else this.remove()
    },
  })
}
