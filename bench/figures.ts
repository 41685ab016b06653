import { basePath } from '@penstock/wire'
import type { Request } from 'autocannon'
import { pairing, rareStatus, rareWord } from './load.ts'
import type { Service } from './service.ts'

/** A measurement: requests of one kind, and their expected ratio. */
export type Figure = {
  name: string
  /** Creates a random request that the service answers. */
  request: (service: Service) => Request
  /** The lowest acceptable ratio to the limit; undefined if the figure is only for information. */
  aim?: number
}

const get = (path: string, { token }: Service): Request => ({
  method: 'GET',
  path: basePath + path,
  headers: { authorization: `Bearer ${token}` },
})
const post = (path: string, body: unknown, { token }: Service): Request => ({
  method: 'POST',
  path: basePath + path,
  headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
  body: JSON.stringify(body),
})

function anyOf<T>(values: readonly T[]): T {
  const value = values[Math.floor(Math.random() * values.length)]
  if (value === undefined) throw new Error('There is nothing to pick from.')
  return value
}
const anyAccount = ({ loaded }: Service) => anyOf(loaded.accountIds)

/** Compared with a bare route that runs the same statements. */
export const readFigures: Figure[] = [
  {
    name: 'Get a connection',
    aim: 0.8,
    request: (service) => {
      const { id, accountId } = anyOf(service.loaded.connections)
      return get(`/connections/${id}?accountId=${accountId}`, service)
    },
  },
  {
    name: 'List 10 connections of an account',
    aim: 0.8,
    request: (service) => get(`/connections?accountId=${anyAccount(service)}&size=10`, service),
  },
]

/** Compared with Node's HTTP server that sends the same bytes. */
export const catalogueFigure: Figure = {
  name: 'List 50 connectors of the catalogue',
  aim: 0.5,
  request: (service) => get(`/connectors?accountId=${anyAccount(service)}&size=50`, service),
}

/** Compared with a bare route that makes the same inserts. */
export const writeFigures: Figure[] = [
  {
    name: 'Create a connection',
    aim: 0.75,
    request: (service) =>
      post(
        `/connections?accountId=${anyAccount(service)}`,
        {
          name: 'Orders to Snowflake',
          ...pairing,
          srcConnectionConfig: { bucketUri: 's3://bucket/prefix' },
          destConnectionConfig: { warehouse: 'W', database: 'D', schema: 'S', table: 'T', writeMode: 'Append' },
        },
        service,
      ),
  },
  { name: 'Create an account', aim: 0.6, request: (service) => post('/accounts', { name: 'Acme Outdoor' }, service) },
  { name: 'Issue a token', aim: 0.75, request: (service) => post('/oauth/client-token', service.credentials, service) },
]

/** Compared with the same service on a database with few connections. No answer may take more than 1.5 times as long. */
const growthAim = 1 / 1.5
export const growthFigures: Figure[] = [
  {
    name: 'First page of an account',
    aim: growthAim,
    request: (service) => get(`/connections?accountId=${anyAccount(service)}`, service),
  },
  {
    name: '… with a status',
    aim: growthAim,
    request: (service) => get(`/connections?accountId=${anyAccount(service)}&status=${rareStatus}`, service),
  },
  {
    name: '… with a text',
    aim: growthAim,
    request: (service) => get(`/connections?accountId=${anyAccount(service)}&q=${rareWord}`, service),
  },
  { name: 'First page of the organization', request: (service) => get('/connections', service) },
  { name: '… with a status', request: (service) => get(`/connections?status=${rareStatus}`, service) },
  { name: '… with a text', request: (service) => get(`/connections?q=${rareWord}`, service) },
  { name: 'First page of accounts', request: (service) => get('/accounts', service) },
]
