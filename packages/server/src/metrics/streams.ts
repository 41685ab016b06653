import { Gauge, type Registry } from 'prom-client'
import { absent, type DatabaseFigures, sharedAnswer } from './database.ts'

/** Measures how far connections are behind the event streams that they read. */
export function observeStreams(registers: Registry[], figures: DatabaseFigures['streams']): void {
  const behind = sharedAnswer(figures)
  const labelNames = ['connection'] as const
  new Gauge({
    name: 'penstock_stream_behind_seconds',
    help: `How long the oldest event has waited that a connection has not delivered; the 100 furthest behind; ${absent}`,
    labelNames,
    registers,
    async collect() {
      const found = await behind()
      this.reset()
      for (const { connectionId, behindSeconds } of found ?? []) this.set({ connection: connectionId }, behindSeconds)
    },
  })
  new Gauge({
    name: 'penstock_stream_behind_events',
    help: `Events of a stream that a connection has not delivered, of the same connections; ${absent}`,
    labelNames,
    registers,
    async collect() {
      const found = await behind()
      this.reset()
      for (const { connectionId, behindEvents } of found ?? []) this.set({ connection: connectionId }, behindEvents)
    },
  })
}
