/** SQL that changes transfers of one part, and their parts, as workers do. */

/** @param where which transfers, by their columns */
const both = (ofTransfers: string, ofParts: string, where: string) => `
  with changed as (update transfers set ${ofTransfers} where ${where} returning id)
  update transfer_parts set ${ofParts} where transfer_id in (select id from changed)`

/** Their worker is gone, and they wait for another one. */
export const queuedAgain = (where = 'id = $1'): string =>
  both(
    `status = 'queued', finished_time = null`,
    `status = 'queued', finished_time = null, heartbeat_time = null`,
    where,
  )

/** A worker claimed them. @param heartbeat when it sent its last heartbeat, and its name, as SQL */
export const claimed = (where = 'id = $1', { heartbeat = 'now()', worker = 'null' } = {}): string =>
  both(
    `status = 'running', attempt = 1, started_time = now(), finished_time = null`,
    `status = 'running', attempt = 1, started_time = now(), finished_time = null, heartbeat_time = ${heartbeat}, worker = ${worker}`,
    where,
  )

/** They have ended. */
export const ended = (status: string, where = 'id = $1'): string =>
  both(
    `status = '${status}', finished_time = now()`,
    `status = '${status === 'partial' ? 'succeeded' : status}', finished_time = now(), heartbeat_time = null`,
    where,
  )
