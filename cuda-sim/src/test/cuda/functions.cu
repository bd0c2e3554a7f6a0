// Calls: recursion, functions chosen at run time, virtual functions, printf.
#include <cstdio>

typedef int (*Operation)(int, int);

__device__ __noinline__ int plus(int a, int b) { return a + b; }
__device__ __noinline__ int times(int a, int b) { return a * b; }
__device__ __noinline__ int smaller(int a, int b) { return a < b ? a : b; }

__device__ Operation operations[3] = {plus, times, smaller};

extern "C" __global__ void fold(const int* x, int* out) {
  Operation operation = operations[threadIdx.x % 3];
  int value = x[0];
  for (int i = 1; i < 6; i++) value = operation(value, x[i] + (int)threadIdx.x);
  out[threadIdx.x] = value;
}

__device__ __noinline__ int ackermann(int m, int n) {
  if (m == 0) return n + 1;
  return ackermann(m - 1, n == 0 ? 1 : ackermann(m, n - 1));
}

extern "C" __global__ void recurse(int* out) {
  out[threadIdx.x] = ackermann(threadIdx.x % 3, threadIdx.x / 3);
}

struct Shape {
  __device__ virtual float area() const = 0;
  __device__ virtual int corners() const { return 4; }
};

struct Box : Shape {
  float width;
  float height;
  __device__ Box(float w, float h) : width(w), height(h) {}
  __device__ float area() const override { return width * height; }
};

struct Triangle : Shape {
  float base;
  float height;
  __device__ Triangle(float b, float h) : base(b), height(h) {}
  __device__ float area() const override { return 0.5f * base * height; }
  __device__ int corners() const override { return 3; }
};

extern "C" __global__ void shapes(float* areas, int* corners) {
  float size = (float)threadIdx.x + 1;
  Box box(size, 2);
  Triangle triangle(size, 3);
  const Shape* shape = threadIdx.x % 2 == 0 ? (const Shape*)&box : (const Shape*)&triangle;
  areas[threadIdx.x] = shape->area();
  corners[threadIdx.x] = shape->corners();
}

extern "C" __global__ void report(int n, double x) {
  if (threadIdx.x == 0) printf("%d threads, %5.2f|%-6s|%04x%%\n", n, x, "left", n);
}

// Memory of the kernel's own: a list from its end to its start.
struct Node {
  int value;
  Node* next;
};

extern "C" __global__ void list(int n, int* out) {
  Node* head = nullptr;
  for (int i = 0; i < n; i++) {
    Node* node = (Node*)malloc(sizeof(Node));
    node->value = i * i;
    node->next = head;
    head = node;
  }
  for (int i = 0; head != nullptr; i++) {
    out[i] = head->value;
    Node* next = head->next;
    free(head);
    head = next;
  }
}
