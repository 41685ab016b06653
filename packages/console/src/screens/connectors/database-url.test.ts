import assert from 'node:assert/strict'
import { test } from 'node:test'
import { valuesOfUrl } from './database-url.ts'

test('the URL of a database fills a form', () => {
  assert.deepEqual(valuesOfUrl(' postgres://ada:p%40ss%2Fword@db.example.com:6432/shop?sslmode=require\n'), {
    host: 'db.example.com',
    port: '6432',
    database: 'shop',
    user: 'ada',
    password: 'p@ss/word',
    tlsMode: 'require',
  })
  assert.deepEqual(valuesOfUrl('mysql://root@[::1]/crm?ssl-mode=VERIFY_CA'), {
    host: '::1',
    database: 'crm',
    user: 'root',
    tlsMode: 'verify-full',
  })
  assert.deepEqual(valuesOfUrl('postgresql://localhost/a'), { host: 'localhost', database: 'a' })
})

test('other texts are no URL of a database', () => {
  for (const text of ['db.example.com', 'https://db.example.com/a', 'postgres://', 'postgres://a:%zz@b/c', ''])
    assert.equal(valuesOfUrl(text), undefined)
})
