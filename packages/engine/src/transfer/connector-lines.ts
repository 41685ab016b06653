import type { Role } from '@penstock/wire'
import type { TransferHost } from '../protocol.ts'

/** Maximum lines of connectors in one session of a transfer, so that they do not displace the other lines of the log. */
const linesMax = 200

/**
 * Sends lines of connectors to the log of a transfer, without waiting for it.
 * @returns a function of the side of the connection and the line; the last line that is kept announces that others are omitted
 */
export function connectorLines(host: Pick<TransferHost, 'reportLine'>): (side: Role, text: string) => void {
  let lines = 0
  return (side, text) => {
    lines += 1
    if (lines > linesMax) return
    const line = lines === linesMax ? 'Its further lines are left out.' : text
    // A transfer does not depend on its log.
    host.reportLine({ side, text: line }).catch(() => {})
  }
}
