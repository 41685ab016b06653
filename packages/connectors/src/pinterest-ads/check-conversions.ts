import { createHash } from 'node:crypto'
import { type Check, type ConnectorContext, ConnectorError, checkSteps } from '@penstock/connector'
import { assertConnectivity } from '../platform-api/call.ts'
import { openConversions } from './conversions-api.ts'
import { pinterestOrigin } from './pinterest-api.ts'

/** An event of no person, for Pinterest to try. */
const probe = () => ({
  ...{ event_name: 'custom', action_source: 'web', event_id: 'penstock-check' },
  event_time: Math.floor(Date.now() / 1000),
  user_data: { em: [createHash('sha256').update('check@example.com').digest('hex')] },
})

/** Has Pinterest try an event, which it does not record: conversion tokens may read nothing. */
export async function assertAccount(context: ConnectorContext): Promise<string> {
  if (context.settings.adAccountId === undefined) {
    return 'Nothing to check until a connection has an ad account.'
  }
  await openConversions(context, true)([{ index: 0, event: probe() }])
  return 'The token may send events to the ad account.'
}

/** Has Pinterest try the event for an account that is no one's: a token that it does not know it says so of first. */
async function assertToken(context: ConnectorContext): Promise<string> {
  const settings = { ...context.settings, adAccountId: '1' }
  try {
    await openConversions({ ...context, settings }, true)([{ index: 0, event: probe() }])
  } catch (error) {
    const accountErrors = ['permission_denied', 'object_not_found', 'malformed_response']
    if (!(error instanceof ConnectorError) || !accountErrors.includes(error.code)) throw error
  }
  return 'Pinterest accepts the conversion access token.'
}

export const checkConversions: Check = checkSteps(
  ['connectivity', (context) => assertConnectivity(context, `${pinterestOrigin}/`)],
  ['authentication', assertToken],
  ['permissions', assertAccount],
)
