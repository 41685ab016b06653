/**
 * A separate process that works on the transfers of a service between the stores of `handover.ts`, until no transfer can be
 * claimed or it is killed:
 *
 *     node test/harness/handover-worker.ts '{"databaseUrl": …}'
 */
import { workAsProcess } from './handover.ts'

await workAsProcess(process.argv[2] ?? '')

const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage()
process.stdout.write(JSON.stringify({ processorMs: (userCPUTime + systemCPUTime) / 1000, maxRssBytes: maxRSS * 1024 }))
