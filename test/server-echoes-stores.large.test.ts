import { testEchoes } from './echoes/echo.ts'

/** Stores: files, databases, data warehouses. */
testEchoes('files', 'databases')
