import type { Db } from '../db/database.ts'
import { furthestBehind } from './figure-queries.ts'

/** More connections than this are not shown in the metrics. */
const shownMax = 100

/** The connections that are furthest behind their streams, over all organizations. */
export const streamFigures = (db: Db) => furthestBehind.all(db, { limit: shownMax })
