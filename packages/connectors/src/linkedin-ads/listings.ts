import { ConnectorError } from '@penstock/connector'
import type { Listing } from '../kit/listing-facts.ts'
import { type JsonObject, listIn, objectIn } from '../platform-api/json.ts'
import { accountForm, accountUrn } from './roles.ts'

const elementsIn = (json: unknown): JsonObject[] => listIn(objectIn(json).elements).map(objectIn)

/** The ad accounts that the user can see, by their numbers. */
export const adAccounts: Listing = {
  kind: 'account',
  id: /^\d+$/,
  page: (pageToken) => ({ path: '/adAccounts', query: { q: 'search', pageSize: '100', pageToken } }),
  found: ({ json }) => elementsIn(json).map(({ id, name }) => ({ id, name })),
  next: ({ json }) => objectIn(objectIn(json).metadata).nextPageToken,
}

/** The conversion rules of the ad account to which conversions can be sent. */
export const conversionRules: Listing = {
  kind: 'object',
  id: /^\d+$/,
  cursor: /^\d{1,9}$/,
  page(start = '0', { settings }) {
    const account = accountUrn(settings.adAccountId)
    if (!accountForm.test(account)) {
      throw new ConnectorError('invalid_setting', 'Set “Ad account ID” first: conversion rules belong to it.')
    }
    return { path: '/conversions', query: { q: 'account', account, start, count: '100' } }
  },
  found: ({ json }) =>
    elementsIn(json)
      .filter(({ conversionMethod = 'CONVERSIONS_API' }) => conversionMethod === 'CONVERSIONS_API')
      .map(({ id, name }) => ({ id, name })),
  next: ({ json }, start = '0') => {
    const { length } = elementsIn(json)
    return length === 0 ? undefined : String(Number(start) + length)
  },
}
