import { type ConnectorContext, ConnectorError } from '@penstock/connector'
import { googleAuth, googleReports, nextPageToken } from '../google/reporting-api.ts'
import type { Listing } from '../kit/listing-facts.ts'
import type { PlatformCall } from '../platform-api/client.ts'
import { listIn, objectIn } from '../platform-api/json.ts'
import { meaningOfRefusal } from './reporting-errors.ts'

/** The scope that a user grants for the Google Ads API. */
export const googleAdsScope = 'https://www.googleapis.com/auth/adwords'

const version = 'v25'

/** The version of the Google Ads API, for the pages of its connectors. */
export const googleAdsVersion = {
  version: `Google Ads API ${version}`,
  ends: 'about a year after its release; Google announces the date',
}

/** The Google Ads API. */
export const googleAdsApi = googleReports('Google Ads', `https://googleads.googleapis.com/${version}`, meaningOfRefusal)

/** An ID of an account without its dashes, as the API expects it. Empty if there is no ID. */
export const customerDigits = (id: unknown): string => String(id ?? '').replace(/\D/g, '')

/** Signs in at the Google Ads API, through the manager account of the settings if there is one. */
export const googleAdsAuth = googleAuth(googleAdsScope, ({ secrets, settings }) => ({
  // Google has ignored developer tokens since September 2026.
  ...(secrets.developerToken !== undefined && { 'developer-token': String(secrets.developerToken) }),
  ...(customerDigits(settings.managerAccountId) !== '' && {
    'login-customer-id': customerDigits(settings.managerAccountId),
  }),
}))

/** A page of the answer to a query of the Google Ads Query Language. @param account its ID, in digits */
export const googleAdsQuery = (account: string, text: string, pageToken?: string): PlatformCall => ({
  method: 'POST',
  path: `/customers/${account}/googleAds:search`,
  repeatable: true,
  body: { query: text, ...(pageToken !== undefined && { pageToken }) },
})

/** The accounts below the manager account, or all that the user can reach without one. */
export const clientAccounts: Listing = {
  kind: 'account',
  page(pageToken, { settings }: Pick<ConnectorContext, 'settings'>) {
    const manager = customerDigits(settings.managerAccountId)
    if (manager === '') return { path: '/customers:listAccessibleCustomers' }
    const text =
      "SELECT customer_client.id, customer_client.descriptive_name FROM customer_client WHERE customer_client.manager = FALSE AND customer_client.status = 'ENABLED'"
    return googleAdsQuery(manager, text, pageToken)
  },
  found({ json }) {
    const { resourceNames, results } = objectIn(json)
    if (resourceNames !== undefined) {
      return listIn(resourceNames).map((name) => ({ id: String(name).replace('customers/', '') }))
    }
    return listIn(results)
      .map((row) => objectIn(objectIn(row).customerClient))
      .map(({ id, descriptiveName: name }) => ({ id, name }))
  },
  next: nextPageToken,
}

/** The fields of a category that a query can select, by their names. */
export const selectableFields = (category: 'SEGMENT' | 'METRIC'): Listing => ({
  kind: 'column',
  page: (pageToken) => ({
    method: 'POST',
    path: '/googleAdsFields:search',
    repeatable: true,
    body: {
      query: `SELECT name WHERE category = '${category}' AND selectable = true`,
      ...(pageToken !== undefined && { pageToken }),
    },
  }),
  found: ({ json }) =>
    listIn(objectIn(json).results)
      .map(objectIn)
      .map(({ name: id }) => ({ id })),
  next: nextPageToken,
})

/** The conversion actions of the account whose conversions can be adjusted. */
export const adjustableActions: Listing = {
  kind: 'object',
  page(pageToken, { settings }) {
    const account = customerDigits(settings.customerId)
    if (account === '') {
      throw new ConnectorError('invalid_setting', 'Set “Customer ID” first: conversion actions belong to an account.')
    }
    const text =
      "SELECT conversion_action.id, conversion_action.name FROM conversion_action WHERE conversion_action.status = 'ENABLED' AND conversion_action.type IN ('WEBPAGE', 'UPLOAD_CLICKS')"
    return googleAdsQuery(account, text, pageToken)
  },
  found: ({ json }) =>
    listIn(objectIn(json).results)
      .map((row) => objectIn(objectIn(row).conversionAction))
      .map(({ id, name }) => ({ id, name })),
  next: nextPageToken,
}
